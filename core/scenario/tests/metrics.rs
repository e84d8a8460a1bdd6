//! Metrics that a scenario describes itself.

mod common;

use serde_json::json;

#[test]
fn a_scenario_describes_metrics() {
    let text = r#"
name: small
guest: {image: debian-12, memory: 384MiB}
matrix: {hypervisor: [bare], guests: [1], workload: [tool]}
workloads:
  tool:
    use: command
    argv: [tool, --fast, "5"]
    metrics:
      - {name: rate, unit: MB/s, better: higher, regex: '(\d+) MB/s', nth: -1}
      - name: spread
        label: spread of the rates
        unit: '%'
        better: neither
        headline: false
        json: /result/0/sd
"#;
    let plan = common::planned(text, "small.yaml").expect("good");
    let tool = &plan.workloads[&common::name("tool")];
    assert_eq!(tool.options["argv"], json!(["tool", "--fast", "5"]));
    assert_eq!(
        tool.options["metrics"],
        json!([
            {"name": "rate", "label": "rate", "unit": "MB/s", "better": "higher", "headline": true,
             "regex": "(\\d+) MB/s", "nth": -1},
            {"name": "spread", "label": "spread of the rates", "unit": "%", "better": "neither", "headline": false,
             "json": "/result/0/sd", "nth": 1}
        ])
    );
    let catalog = common::catalog();
    let (_, offer) = catalog.offer(crossvisor_model::Kind::Workload, "command").expect("offer");
    let metrics = offer.metrics_with(&tool.options);
    let names: Vec<_> = metrics.iter().map(|metric| (metric.name.as_str(), metric.headline)).collect();
    assert_eq!(names, [("wall", false), ("rate", true), ("spread", false)]);
}
