//! What more guests at once make of a metric.

use std::collections::BTreeMap;

use crossvisor_model::{Axes, Better, Name};
use serde::{Deserialize, Serialize};

use crate::{Ratio, Row};

/// One kind of machine with different numbers of guests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scaling {
    pub host: Name,
    pub hypervisor: Name,
    pub storage: Option<Name>,
    /// By number of guests, ascending; at least two.
    pub points: Vec<ScalingPoint>,
}

/// One number of guests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScalingPoint {
    pub guests: u32,
    /// What each guest still does of what it does with the least number of guests: 1 where they do not hinder each
    /// other. The ratio of the means, turned over where lower is better. `None` where there are no numbers.
    pub efficiency: Option<Ratio>,
    /// `efficiency` times the number of guests, as a multiple of the least number: all guests' work together.
    pub speedup: Option<f64>,
}

/// The curves of a metric of which every guest has a value of its own, by machine.
pub(crate) fn curves(rows: &[Row], better: Better) -> Vec<Scaling> {
    let mut machines: BTreeMap<_, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let Axes { host, hypervisor, storage, .. } = &row.axes;
        machines.entry((host, hypervisor, storage)).or_default().push(row);
    }
    let curve = |((host, hypervisor, storage), rows): ((&Name, &Name, &Option<Name>), Vec<&Row>)| {
        let points = points(rows, better);
        (points.len() > 1).then(|| Scaling {
            host: host.clone(),
            hypervisor: hypervisor.clone(),
            storage: storage.clone(),
            points,
        })
    };
    machines.into_iter().filter_map(curve).collect()
}

fn points(mut rows: Vec<&Row>, better: Better) -> Vec<ScalingPoint> {
    rows.sort_by_key(|row| row.axes.guests);
    let Some(least) = rows.first().copied() else { return Vec::new() };
    let point = |row: &Row| {
        let (own, base) = (row.estimate.comparable(), least.estimate.comparable());
        let efficiency = own.zip(base).and_then(|(own, base)| match better {
            Better::Higher => Ratio::of(own, base),
            Better::Lower => Ratio::of(base, own),
            Better::Neither => None,
        });
        let times = f64::from(row.axes.guests) / f64::from(least.axes.guests);
        let speedup = efficiency.map(|ratio| ratio.value * times);
        ScalingPoint { guests: row.axes.guests, efficiency, speedup }
    };
    rows.into_iter().map(point).collect()
}
