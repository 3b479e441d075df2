// The project's own rules: who may import whom, and what counts as a failure; see mutations.mjs.
const RULES = '.dependency-cruiser.cjs';
const CI = '.ci/run';

const rules = [
  {
    defence: 'Imports: parts of the bridge are pure',
    edits: [
      ["path: '^(ai-sdk|protocol|stores|executor|config)/|node_modules/',", "path: '^none/',"],
    ],
    test: 'the rule parts-are-pure finds the import that it forbids',
  },
  {
    defence: 'Imports: turns of the bridge only read',
    edits: [
      ["to: { path: '^(ai-sdk/(reply|client|react)|executor)/' },", "to: { path: '^none/' },"],
    ],
    test: 'the rule turns-only-read finds the import that it forbids',
  },
  {
    defence: 'Imports: parts of the bridge know no turn, not even its types',
    edits: [["to: { path: '^ai-sdk/turns/' },", "to: { path: '^none/' },"]],
    test: 'the rule parts-know-no-turn finds the import that it forbids',
  },
  {
    defence: 'Imports: replies of the bridge know no page',
    edits: [["to: { path: '^ai-sdk/(client|react)/' },", "to: { path: '^none/' },"]],
    test: 'the rule replies-know-no-page finds the import that it forbids',
  },
  {
    defence: 'Imports: commands use the HTTP API only',
    edits: [["to: { path: '^(config|agents|executor|stores)/' },", "to: { path: '^none/' },"]],
    test: 'the rule commands-talk-http finds the import that it forbids',
  },
].map((mutation) => ({ file: RULES, suite: 'test/scripts/boundaries.test.mjs', ...mutation }));

const counts = [
  {
    defence: 'CI: a lane that ends without its counts is a failure',
    edits: [[" | grep . || echo '0 passed, 1 failed'", '']],
    test: '.ci/run counts a lane that ends without its counts as one failure',
  },
  {
    defence: 'CI: a lane that exits with an error is a failure, whatever it counted',
    edits: [['if [ "$broken" -eq 1 ] && [ "$failed" -eq 0 ]; then failed=1; fi\n', '']],
    test: '.ci/run fails if a lane exits with an error after tests that all passed',
  },
  {
    defence: 'CI: checks that fail are a failure',
    edits: [['failed=$((failed + failed_checks))\n', '']],
    test: '.ci/run counts checks that fail as one failure',
  },
  {
    defence: 'CI: what a slow machine has no time for is skipped, not passed',
    file: 'test/support/global-runner.mjs',
    edits: [["testNamePattern: '(?!)'", '']],
    suite: 'test/scripts/until-deadline.test.mjs',
    test: 'a test file that begins after the deadline is skipped',
  },
].map((mutation) => ({ file: CI, suite: 'test/scripts/ci-run.test.mjs', ...mutation }));

const rows = [
  {
    defence: 'Checks: after one that failed no further one begins',
    edits: [['if (failed.length > 0) return;', '']],
    test: 'after a script that failed none begins, in any row',
  },
  {
    defence: 'Checks: one that a signal ends has failed',
    edits: [['(code === 0 ? passed : failed).push(name);', '(code ? failed : passed).push(name);']],
    test: 'a script that a signal ends has failed',
  },
].map((mutation) => ({
  file: 'scripts/system/run-rows.mjs',
  suite: 'test/scripts/run-rows.test.mjs',
  ...mutation,
}));

const manifests = [
  {
    defence: 'Manifests: what the schemas of Kubernetes refuse is a failure',
    file: 'scripts/kubernetes/lint-manifests.mjs',
    edits: [['if (code !== 0) throw', 'if (code === undefined) throw']],
    suite: 'test/scripts/lint-manifests.test.mjs',
    test: 'manifests and the schemas of Kubernetes a field that no version knows, and a missing one, are named',
  },
];

const verdicts = [
  {
    defence: 'Rehearsal: a verdict on nothing is not green',
    file: 'bench/soak/verdict.ts',
    edits: [['turns > 0 && faults !== 0 && ', 'turns !== faults && ']],
    suite: 'test/bench/soak-tally.test.ts',
    test: 'a verdict on nothing is not clean',
  },
];

const firstMinutes = [
  {
    defence: 'Five minutes: a refund that was paid twice is a failure',
    edits: [['if (paid.length !== 1) {', 'if (paid.length === 0) {']],
    test: 'the script of the first minutes exits with 1 if the refund was paid twice',
  },
  {
    defence: 'Five minutes: a question that is asked again is a failure',
    edits: [['if (isAskedAgain) throw', 'if (paid.length > 1) throw']],
    test: 'the script of the first minutes exits with 1 if the refund is asked for again',
  },
  {
    defence: 'Five minutes: longer ones are a failure',
    edits: [['if (seconds > FIVE_MINUTES_S) {', 'if (seconds > 2 * FIVE_MINUTES_S) {']],
    test: 'the script of the first minutes exits with 1 if the refund came too late',
  },
].map((mutation) => ({
  file: 'scripts/package/judge-first-minutes.mjs',
  suite: 'test/scripts/judge-first-minutes.test.mjs',
  ...mutation,
}));

const compose = [
  {
    defence: 'Compose: settings reach the processes',
    edits: [['  AUDIT_KEY: ${AUDIT_KEY:-}\n', '']],
    test: 'docker-compose.yml every setting of the processes is passed on, or is one that Compose decides',
  },
  {
    defence: 'Compose: no container writes to its image',
    edits: [['  read_only: true\n', '']],
    test: 'docker-compose.yml postgres has no rights that it does not need',
  },
  {
    defence: 'Compose: no password is known to all',
    edits: [['REDISCLI_AUTH: ${REDIS_PASSWORD:?set', 'REDISCLI_AUTH: ${REDIS_PASSWORD:-set']],
    test: 'docker-compose.yml no password has a value that everybody knows',
  },
  {
    defence: 'Compose: a worker has the time to hand its replies over',
    edits: [['stop_grace_period: 60s', 'stop_grace_period: 45s']],
    test: 'a worker has 60 s to hand its replies over in docker-compose.yml',
  },
].map((mutation) => ({
  file: 'docker-compose.yml',
  suite: 'test/ops/compose.test.ts',
  ...mutation,
}));

export const project = [
  ...[...rules, ...counts, ...rows, ...manifests],
  ...[...verdicts, ...firstMinutes, ...compose],
];
