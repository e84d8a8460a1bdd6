//! How each setup does over all its workloads.

use crossvisor_analysis::{Comparison, Overall};

use super::Palette;
use crate::number::percent;
use crate::svg::Drawing;
use crate::svg::bars::{Bar, Chart};
use crate::table::baseline_name;

/// `None` where no setup has several workloads to compare.
pub fn overall(comparison: &Comparison) -> Option<Drawing> {
    let palette = Palette::of(comparison);
    let bar = |overall: &Overall| {
        let interval = overall.ratio.interval;
        let range = interval.map(|i| format!("{}–{} %", percent(i.low), percent(i.high)));
        Bar {
            value: Some(overall.ratio.value * 100.0),
            whisker: interval.map(|i| (i.low * 100.0, i.high * 100.0)),
            text: format!("{} %", percent(overall.ratio.value)),
            whisker_text: range.unwrap_or_default(),
            ..palette.bar(&overall.axes)
        }
    };
    let bars: Vec<_> = comparison.overall.iter().map(|overall| (&overall.axes, bar(overall))).collect();
    let name = baseline_name(&comparison.baseline);
    (!bars.is_empty()).then(|| {
        Chart {
            id: "overall".to_string(),
            title: "All workloads together".to_string(),
            axis: format!("% of {name}, higher is better"),
            groups: palette.groups(bars),
            reference: Some((100.0, name)),
            reach: 0.0,
            notes: Vec::new(),
        }
        .draw()
    })
}
