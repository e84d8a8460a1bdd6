//! Requests to every bundled plugin, in JSON; a recorded transcript stands for its first request.
#![no_main]

use std::sync::LazyLock;

use crossvisor_fuzz::{Responder, read_back, responders};
use crossvisor_plugin::Request;
use crossvisor_plugin::envelope::{Answer, VERSION};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

static RESPONDERS: LazyLock<Vec<Responder>> = LazyLock::new(responders);

fuzz_target!(|data: &[u8]| {
    let transcript: Option<Value> = serde_json::from_slice(data).ok();
    let inside =
        transcript.and_then(|mut transcript| Some(transcript.get_mut("request")?.take().to_string()));
    let request = inside.as_deref().map_or(data, str::as_bytes);
    let read = serde_json::from_slice::<Request>(request).ok();
    for (offers, respond) in &*RESPONDERS {
        let reply = respond(request);
        assert_eq!(reply.v, VERSION);
        read_back(&reply);
        match (&reply.answer, &read) {
            (Answer::Error(failure), _) => assert!(!failure.message.is_empty()),
            (Answer::Ok(turn), Some(request)) => {
                assert!(offers.contains(&request.offer));
                assert!(!turn.done || request.call.check_output(&turn.output).is_ok(), "{turn:?}");
            }
            (Answer::Ok(_), None) => panic!("it answers what is no request"),
        }
        if !read.as_ref().is_some_and(|request| offers.contains(&request.offer)) {
            assert!(matches!(reply.answer, Answer::Error(_)));
        }
    }
});
