//! A line without axes, as high as a line of text.
//!
//! Owns its geometry. It is for those who see it: its numbers stand beside it in a table.

const WIDTH: f64 = 100.0;
const HEIGHT: f64 = 20.0;
/// As many points as are worth drawing.
const POINTS: usize = 60;
/// Lines on top of each other that can still be told from one.
const LINES: usize = 8;

/// Lines over the same time (at, value) from zero to the greatest of their values; `None` where there is no line to draw. A
/// value that is not known interrupts its line.
pub fn spark(lines: &[(&[f64], &[Option<f64>])]) -> Option<String> {
    let lines = &lines[..lines.len().min(LINES)];
    let end = lines.iter().filter_map(|(at, _)| at.last()).copied().fold(0.0, f64::max);
    let known =
        lines.iter().flat_map(|(_, values)| values.iter().flatten()).filter(|value| value.is_finite());
    let most = known.copied().fold(0.0, f64::max);
    let path: String = lines.iter().map(|(at, values)| path(at, values, end, most)).collect();
    let drawn = end > 0.0 && most > 0.0 && path.contains('L');
    drawn.then(|| {
        format!(
            "<svg class=\"spark\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" aria-hidden=\"true\" focusable=\"false\">\
             <path d=\"{path}\"/></svg>"
        )
    })
}

/// The greatest value of each of at most [`POINTS`] equal parts of the points.
fn path(at: &[f64], values: &[Option<f64>], end: f64, most: f64) -> String {
    let part = at.len().div_ceil(POINTS).max(1);
    let mut out = String::new();
    let mut pen = 'M';
    for (at, values) in at.chunks(part).zip(values.chunks(part)) {
        let greatest = values.iter().flatten().copied().filter(|value| value.is_finite()).reduce(f64::max);
        let (Some(value), Some(at)) = (greatest, at.last()) else {
            pen = 'M';
            continue;
        };
        let y = (HEIGHT - 1.0) * (1.0 - (value / most).clamp(0.0, 1.0)) + 0.5;
        out += &format!("{pen}{:.0} {y:.0}", at / end * WIDTH);
        pen = 'L';
    }
    out
}

#[cfg(test)]
mod tests {
    use super::spark;

    #[test]
    fn unknown_values_interrupt_the_line_and_what_never_moved_has_none() {
        let at = [1.0, 2.0, 3.0, 4.0];
        let svg = spark(&[(&at, &[Some(0.0), None, Some(5.0), Some(10.0)])]).expect("a line");
        assert!(svg.contains("d=\"M25 20M75 10L100 0\""), "{svg}");
        assert_eq!(spark(&[(&at, &[Some(0.0); 4])]), None);
        assert_eq!(spark(&[(&at[..1], &[Some(1.0)])]), None);
        assert_eq!(spark(&[]), None);
    }

    #[test]
    fn many_readings_become_few_points_and_keep_their_peaks() {
        let at: Vec<f64> = (1..=6000).map(f64::from).collect();
        let mut values = vec![Some(1.0); 6000];
        values[3333] = Some(100.0);
        let svg = spark(&[(&at, &values)]).expect("a line");
        assert_eq!(svg.matches('L').count(), 59);
        assert!(svg.contains(" 0L"), "{svg}");
    }
}
