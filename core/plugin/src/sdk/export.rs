//! The macros that make a type a plugin, and export it.

/// Makes a library a plugin: `plugin!(hypervisor_kvm, hypervisor, Kvm);` exports `crossvisor_plugin_v1_hypervisor_kvm`
/// for a unit type `Kvm` that implements [`Hypervisor`](crate::Hypervisor). The middle word is `hypervisor`, `storage`, `workload` or `telemetry`.
#[macro_export]
macro_rules! plugin {
    ($name:ident, $kind:ident, $type:ident) => {
        #[cfg(panic = "abort")]
        compile_error!("a Crossvisor plugin needs panic = \"unwind\": a panic must not end the host");

        impl $crate::Plugin for $type {
            fn manifest() -> $crate::model::Manifest {
                $crate::plugin!(@trait $kind)(&$type)
            }
            fn offers() -> &'static [$crate::model::Name] {
                static OFFERS: ::std::sync::OnceLock<Vec<$crate::model::Name>> = ::std::sync::OnceLock::new();
                let manifest = <Self as $crate::Plugin>::manifest;
                OFFERS.get_or_init(|| manifest().offers.into_iter().map(|offer| offer.name).collect())
            }
            fn answer(
                chosen: &$crate::sdk::Chosen,
                call: &$crate::Call,
                resume: &$crate::Resume,
            ) -> Result<$crate::Turn, $crate::Failure> {
                $crate::sdk::$kind(&$type, chosen, call, resume)
            }
            $crate::plugin!(@import $kind $type);
        }

        $crate::export!($name, $type);
    };
    (@import workload $type:ident) => {
        fn import(
            chosen: &$crate::sdk::Chosen,
            input: &$crate::ImportInput,
        ) -> Result<$crate::ImportOutput, $crate::Failure> {
            $crate::Workload::import(&$type, chosen, input)
        }
    };
    (@import telemetry $type:ident) => {
        fn import(
            chosen: &$crate::sdk::Chosen,
            input: &$crate::ImportInput,
        ) -> Result<$crate::ImportOutput, $crate::Failure> {
            $crate::Telemetry::import(&$type, chosen, input)
        }
    };
    (@import $kind:ident $type:ident) => {};
    (@trait hypervisor) => { $crate::Hypervisor::manifest };
    (@trait storage) => { $crate::Storage::manifest };
    (@trait workload) => { $crate::Workload::manifest };
    (@trait telemetry) => { $crate::Telemetry::manifest };
}

/// Exports the contract's symbol for a type that is a [`Plugin`](crate::Plugin); [`plugin!`](crate::plugin!) calls it.
#[macro_export]
macro_rules! export {
    ($name:ident, $type:ident) => {
        #[allow(unsafe_code)]
        mod exported {
            static DESCRIPTOR: ::std::sync::OnceLock<$crate::abi::Descriptor> = ::std::sync::OnceLock::new();

            /// The plugin's entry in the C contract.
            #[unsafe(export_name = concat!("crossvisor_plugin_v1_", stringify!($name)))]
            pub extern "C" fn entry() -> *const $crate::abi::Descriptor {
                $crate::sdk::descriptor::<super::$type>(&DESCRIPTOR)
            }
        }
        pub use exported::entry;
    };
}
