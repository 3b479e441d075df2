// Who may import whom: folders are sides of the wire, the protocol is the leaf in the middle.
const LAZY = ['type-only', 'dynamic-import'];
const COMPOSED = 'protocol|store|runs|agents|config|examples|extensions';
const ENTRIES = 'protocol|config|store/(contract|record)|(activities|agents|ai-sdk|api|runs|store|worker)/(index|extension)|api/(create-metrics-app|listen|readiness)'; // What extensions import of other rooms.
const MAY_IMPORT = {
  protocol: '-', config: 'protocol', agents: 'protocol', session: 'protocol', run: 'protocol',
  workflows: 'protocol|run', 'extensions/[\\w/-]*workflows': 'protocol|run|workflows',
  'extensions/one-process': 'protocol|run|agents|store|activities|runs',
  extensions: `run|agents|store|activities|runs|worker|workflows|${ENTRIES}`, 'extensions/(?!one-process|agent-server|doctor|remote|mcp|notify|leases|schedules|called-runs|index|agents|api|worker|[\\w/-]*workflows).*': ENTRIES,
  store: 'protocol|session', 'store/[\\w-]+\\.ts': 'protocol|session', 'store/contract': 'protocol|session|store/[\\w-]+\\.ts', 'store/(record|log)': 'protocol|session|store/(contract|[\\w-]+\\.ts)',
  activities: 'protocol|run|agents|store|runs/record', runs: 'protocol|agents|session|store', 'runs/record': 'protocol|agents|session|store', testing: 'protocol|agents|session|store|runs|extensions|worker|ai-sdk',
  'ai-sdk': 'protocol|store|runs', 'ai-sdk/parts': 'protocol|store', 'ai-sdk/turns': 'protocol|store|ai-sdk/parts',
  'ai-sdk/reply': 'protocol|store|runs|ai-sdk/(parts|turns)', web: 'protocol|ai-sdk/(client|react)/index',
  api: `${COMPOSED}|ai-sdk`, worker: `${COMPOSED}|activities`,
  cli: 'protocol|config|agents|runs|store|testing|extensions/[\\w-]+/(index|settings)', 'cli/(?!doctor|eval).*': 'protocol|testing|cli|extensions/own-files/index',
  examples: 'agents|ai-sdk|api/index|extensions|protocol|store|worker|workflows', 'examples/(lab|support|long-conversation|index)': 'agents|extensions|protocol|workflows|examples',
};
/** Where less is loaded than the types that may be imported, to start fast and without Node, zod or an engine. */
const NEVER_LOAD = [
  ['(workflows|extensions/[\\w/-]*workflows)', 'protocol', 'protocol/(temporal|run|limits|ids)'],
  ['ai-sdk/parts', 'ai-sdk|protocol|store|.*node_modules', 'ai-sdk/parts|protocol/(reply-fold|chunk-guards|errors|ids|limits)'],
  ['ai-sdk/(client|react)', 'ai-sdk|protocol|store|runs', 'ai-sdk/(client|react|parts)|protocol/(ids|shown-call|time)'],
  ['store/memory', 'store/redis/(clients|open-stores|helix-classes|index)'],
  ['extensions/one-process|testing/(?!temporal).*', 'worker|runs/(temporal-executor|run-workflows|index)|activities/(index|as-activity)'],
  ['(?!extensions/observe/|test/|bench/).*', 'extensions/observe/(?!logging|trace-runs)[\\w-]+', '', LAZY],
  // A person installs these with the feature that needs them.
  ['(?!test/|bench/|cli/mcp/).*', '.*node_modules/(@fastify/busboy|@modelcontextprotocol/sdk|jose|nodemailer|prom-client|zod-openapi)', '', LAZY],
  ['cli/(?!doctor|eval|mcp).*', 'cli/(doctor|eval|mcp)|protocol', 'protocol/(operator-clients|errors|ids|run|time)', LAZY],
];
/** Packages that stand for one side, and where they are imported. */
const PACKAGES = {
  'react|react-dom|@ai-sdk/react': 'ai-sdk/react|web|examples/(next|assistant-ui|ai-elements)', ioredis: 'store/redis',
  '@opentelemetry/[^/]+': 'extensions/observe', commander: 'cli', nodemailer: 'extensions/notify|examples',
  'express|express-rate-limit|cors|helmet': 'api|extensions', jose: 'extensions/(jwt|notify)', 'prom-client': 'extensions/metrics', '@fastify/busboy': 'extensions/files', 'zod-openapi': 'extensions/openapi', jiti: 'extensions/(own-files|observe)',
  '@temporalio/[^/]+': 'workflows|extensions|activities|runs(?!/record)|worker|api|config|testing/temporal|examples/(embed|next|own-workflow)',
  '@ai-sdk/(provider|openai|openai-compatible|anthropic|google)': 'agents|activities|extensions/observe|examples',
};
const at = (paths) => `^(${paths})(?![\\w-])`;
const folders = [...Object.keys(MAY_IMPORT).filter((path) => !path.includes('/')), 'bench|test'].join('|');
const forbid = (name, from, to, but, how) => ({
  name, severity: 'error', from: { path: at(from) }, to: { path: at(to), ...(but && { pathNot: at(but) }), ...how },
});
const never = (from, to, but, how) => forbid(`${from} never imports ${to}`, from, to, but, how);
module.exports = {
  forbidden: [
    { name: 'no circles', severity: 'error', from: {}, to: { circular: true } },
    ...Object.entries(MAY_IMPORT).map(([from, may]) => forbid(`${from} imports only ${may}`, from, folders, `${from}|${may}`)),
    ...NEVER_LOAD.map(([from, to, but, how = ['type-only']]) => never(from, to, but, { dependencyTypesNot: how })),
    ...Object.entries(PACKAGES).map(([names, where]) => never(`(?!(${where}|test|bench)/).*`, `.*node_modules/(${names})`)),
    never('(?!test/|bench/).*', 'test|bench'), never('index\\.ts', 'examples'),
    never('(activities|runs|extensions/one-process|ai-sdk|api|worker)/(?![\\w/-]*main\\.|ai-sdk/tool-loop-agent).*', 'store/(redis|memory)'),
    never('(?!index\\.|(extensions|testing|cli|examples|scripts|test|bench)/|[\\w/-]*main\\.).*', 'examples|extensions'),
    never('session|workflows|extensions/[\\w/-]*workflows', '.*node_modules', '.*node_modules/@temporalio'),
    never('ai-sdk/(client|react)', '.*node_modules/(ai|zod)'),
    { name: 'an extension imports no other', severity: 'error', from: { path: '^extensions/([^/]+)/' }, to: { path: '^extensions/', pathNot: '^extensions/$1/' } },
    never('session|ai-sdk/(client|react|parts)', '.*', '', { dependencyTypes: ['core'] }),
  ],
  options: { doNotFollow: { path: 'node_modules' }, exclude: { path: '^dist/' }, tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' }, enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.js', '.mjs'] } },
};
