import assert from "node:assert/strict";
import { test } from "node:test";
import { parseMetrics, quantileOf, seriesOf, totalOf } from "../src/prometheus.ts";

const TEXT = `# HELP curator_queue_length Operations that wait for a thread.
# TYPE curator_queue_length gauge
curator_queue_length 3
curator_jwks_age_seconds{issuer="corp"} 12.5
curator_jwks_age_seconds{issuer="with \\"quotes\\", commas and \\\\"} +Inf
curator_x{a="1",b="}"} -4e-3 1395066363000
not a sample
broken{a=1} 2
curator_empty{} 1
`;

test("names, labels, values and times are read", () => {
  assert.deepEqual(parseMetrics(TEXT), [
    { name: "curator_queue_length", labels: {}, value: 3 },
    { name: "curator_jwks_age_seconds", labels: { issuer: "corp" }, value: 12.5 },
    { name: "curator_jwks_age_seconds", labels: { issuer: 'with "quotes", commas and \\' }, value: Infinity },
    { name: "curator_x", labels: { a: "1", b: "}" }, value: -0.004 },
    { name: "curator_empty", labels: {}, value: 1 },
  ]);
});

test("a line that is no sample is left out, whatever it is", () => {
  assert.deepEqual(parseMetrics('# only this\n\n{a="b"} 1\nname{a="b" 1\nname x\nname\n'), []);
});

test("the series of a name are added up, and none is not zero", () => {
  const samples = parseMetrics('a{m="1"} 2\na{m="2"} 3\nab 100\n');
  assert.equal(totalOf(samples, "a"), 5);
  assert.equal(totalOf(samples, "c"), undefined);
  assert.equal(seriesOf(samples, "a").length, 2);
});

const HISTOGRAM = `h_bucket{backend="sqlite",le="0.001"} 50
h_bucket{backend="sqlite",le="0.01"} 90
h_bucket{backend="sqlite",le="0.1"} 98
h_bucket{backend="sqlite",le="+Inf"} 100
h_count{backend="sqlite"} 100
`;

test("a quantile lies in its bucket, where observations count as evenly spread", () => {
  const samples = parseMetrics(HISTOGRAM);
  assert.deepEqual(quantileOf(samples, "h", 0.5), { value: 0.001, isBeyond: false });
  assert.deepEqual(quantileOf(samples, "h", 0.25), { value: 0.0005, isBeyond: false });
  const p70 = quantileOf(samples, "h", 0.7);
  assert.ok(p70 && Math.abs(p70.value - 0.0055) < 1e-12);
});

test("a quantile above the last bound says so", () => {
  assert.deepEqual(quantileOf(parseMetrics(HISTOGRAM), "h", 0.99), { value: 0.1, isBeyond: true });
});

test("a histogram without observations has no quantile", () => {
  assert.equal(quantileOf(parseMetrics('h_bucket{le="1"} 0\nh_bucket{le="+Inf"} 0\n'), "h", 0.5), undefined);
  assert.equal(quantileOf([], "h", 0.5), undefined);
});

test("the series of a histogram count together", () => {
  const samples = parseMetrics(
    [
      'h_bucket{b="1",le="1"} 1\nh_bucket{b="1",le="+Inf"} 1\n',
      'h_bucket{b="2",le="1"} 0\nh_bucket{b="2",le="+Inf"} 3\n',
    ].join(""),
  );
  assert.deepEqual(quantileOf(samples, "h", 0.25), { value: 1, isBeyond: false });
  assert.deepEqual(quantileOf(samples, "h", 0.5), { value: 1, isBeyond: true });
});
