/** Who may import whom: folders are sides of the wire, the protocol is the leaf in the middle. */
const only = (folder, allowed, comment, except = '^$') => ({
  name: `${folder}-imports-inward`,
  comment,
  severity: 'error',
  from: { path: `^${folder}/`, pathNot: except },
  to: {
    path: '^(protocol|agents|workflows|activities|executor|in-process|notify|testing|session|store|stores|tracing|worker|ai-sdk|api|web|cli|config|examples|bench|test)/',
    pathNot: `^(${[folder, ...allowed].join('|')})/`,
  },
});

/** Packages that stand for one side. */
const packagesOf = (side, packages, folders) => ({
  name: `${side}-packages-at-their-place`,
  severity: 'error',
  from: { pathNot: `^(${folders}|test|bench)/` },
  to: { path: `node_modules/(${packages})/` },
});

/** What both processes are composed of. */
const COMPOSED = [
  'protocol',
  'stores',
  'executor',
  'agents',
  'config',
  'notify',
  'tracing',
  'examples',
];

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'tests-are-not-imported',
      severity: 'error',
      from: { pathNot: '^(test|bench)/' },
      to: { path: '^(test|bench)/' },
    },
    only('protocol', [], 'The contract is a leaf.'),
    only('config', ['protocol'], 'Settings know the contract only.'),
    only('agents', ['protocol'], 'Agents know neither Temporal nor Redis.'),
    only('session', ['protocol'], 'The rules of a conversation know the contract only.'),
    {
      name: 'session-is-pure',
      comment: 'No I/O and no package.',
      severity: 'error',
      from: { path: '^session/' },
      to: { dependencyTypesNot: ['local'] },
    },
    only('store', ['protocol', 'session'], 'It makes changes of the record.'),
    only('stores', ['protocol', 'session', 'store'], 'Stores know the contract and the record.'),
    {
      name: 'memory-needs-no-redis-client',
      severity: 'error',
      from: { path: '^stores/memory/' },
      to: {
        path: '^stores/redis/(clients|connection|evaluate|open-stores|helix-classes|index)\\.ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
    only('notify', ['protocol', 'agents'], 'Notices know neither Temporal nor Redis.'),
    only('tracing', ['protocol'], 'The tracer knows nothing of runs.'),
    {
      name: 'traces-are-loaded-where-wanted',
      comment: 'A process without a collector loads nothing of OpenTelemetry.',
      severity: 'error',
      from: { pathNot: '^(tracing|test|bench)/' },
      to: { path: '^tracing/', dependencyTypesNot: ['type-only', 'dynamic-import'] },
    },
    only('workflows', ['protocol'], 'Workflow code runs in a sandbox of its own.'),
    only('activities', ['protocol', 'agents', 'stores'], 'Activities use stores and agents.'),
    only('executor', ['protocol', 'agents', 'stores', 'notify'], 'It starts and signals runs.'),
    only(
      'in-process',
      ['protocol', 'agents', 'stores', 'activities', 'executor'],
      'Composes the parts of a run in one process.',
    ),
    {
      name: 'one-process-needs-no-engine',
      comment:
        'Nor what speaks to one; test/in-process/no-temporal.test.ts looks at the whole graph.',
      severity: 'error',
      from: { path: '^in-process/' },
      to: {
        path: '^executor/(agent-executor|run-workflows|run-list|inspect-temporal|index)\\.ts$|^activities/(index|as-activity|open-attempt)\\.ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
    only(
      'testing',
      ['protocol', 'agents', 'session', 'stores', 'executor', 'in-process', 'worker', 'ai-sdk'],
      'Composes what applications compose.',
    ),
    {
      name: 'tests-need-no-engine',
      comment: 'Only one file knows Temporal, and is loaded by those who test on it.',
      severity: 'error',
      from: { path: '^testing/', pathNot: '^testing/temporal/' },
      to: {
        path: '^(worker|executor/(agent-executor|run-workflows|index))',
        dependencyTypesNot: ['type-only'],
      },
    },
    only('ai-sdk', ['protocol', 'stores', 'executor'], 'The bridge knows the seams only.'),
    only('api', [...COMPOSED, 'ai-sdk'], 'The API never runs agents.'),
    only(
      'worker',
      [...COMPOSED, 'activities'],
      'Workflows are loaded by path, never imported.',
      '^worker/main\\.ts$',
    ),
    {
      name: 'worker-process-serves-its-metrics',
      comment:
        'On a port of its own, with the guards of the API; nothing else of the API is taken.',
      severity: 'error',
      from: { path: '^worker/main\\.ts$' },
      to: {
        path: '^(workflows|ai-sdk|web|bench|test|api)/',
        pathNot: '^api/(create-metrics-app|listen|readiness|deps)\\.ts$',
      },
    },

    only(
      'cli',
      ['protocol', 'config', 'notify', 'agents', 'executor', 'stores', 'testing'],
      'The command line is a client of the API.',
    ),
    {
      name: 'commands-talk-http',
      comment: 'Only doctor looks at engines itself.',
      severity: 'error',
      from: { path: '^cli/', pathNot: '^cli/(doctor|eval)/' },
      to: { path: '^(config|agents|executor|stores)/' },
    },
    {
      name: 'commands-start-fast',
      comment: 'A command loads what it needs when it is called; zod does not belong to it.',
      severity: 'error',
      from: { path: '^cli/', pathNot: '^cli/(doctor|eval|mcp)/' },
      to: {
        path: '^cli/(doctor|eval|mcp)/|^protocol/',
        pathNot: '^protocol/(audit-fault|ids|run|time)\\.ts$',
        dependencyTypesNot: ['type-only', 'dynamic-import'],
      },
    },
    only(
      'examples',
      ['agents', 'ai-sdk', 'in-process', 'protocol', 'stores', 'worker', 'workflows'],
      'Examples use what users use.',
    ),
    {
      name: 'product-knows-no-example',
      comment: 'Only the processes of npm start compose them.',
      severity: 'error',
      from: { pathNot: '^(examples|test|bench|scripts)/|/main\\.ts$' },
      to: { path: '^examples/' },
    },
    {
      name: 'agents-of-examples-are-plain',
      comment: 'Workers load them.',
      severity: 'error',
      from: { path: '^examples/(lab|support|long-conversation)/|^examples/index\\.ts$' },
      to: { path: '^(ai-sdk|stores|worker)/' },
    },
    only('web', ['protocol', 'ai-sdk'], 'The page is a client of the package.'),
    {
      name: 'page-takes-what-applications-take',
      comment: 'The entries for browsers, as any application does.',
      severity: 'error',
      from: { path: '^web/' },
      to: { path: '^ai-sdk/', pathNot: '^ai-sdk/(client|react)/index\\.ts$' },
    },
    {
      name: 'browsers-take-no-server',
      comment: 'What runs in a page takes values from files that bring neither Node nor zod.',
      severity: 'error',
      from: { path: '^ai-sdk/(client|react)/' },
      to: {
        path: '^(ai-sdk|protocol|stores|executor|config)/',
        pathNot: '^(ai-sdk/(client|react|parts)/|protocol/(headers|shown-call|time)\\.ts$)',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'parts-are-pure',
      comment: 'Chunk to part to SSE text, row to message: pages and servers share them.',
      severity: 'error',
      from: { path: '^ai-sdk/parts/' },
      to: {
        path: '^(ai-sdk|protocol|stores|executor|config)/|node_modules/',
        pathNot:
          '^(ai-sdk/parts/|protocol/(content-blocks|control-guard|errors|event-names|ids|provider-result)\\.ts$)',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'turns-only-read',
      comment: 'One turn as frames, and history: nothing here starts, answers or stops a run.',
      severity: 'error',
      from: { path: '^ai-sdk/(parts|turns)/' },
      to: { path: '^(ai-sdk/(reply|client|react)|executor)/' },
    },
    {
      name: 'parts-know-no-turn',
      severity: 'error',
      from: { path: '^ai-sdk/parts/' },
      to: { path: '^ai-sdk/turns/' },
    },
    {
      name: 'replies-know-no-page',
      severity: 'error',
      from: { path: '^ai-sdk/reply/' },
      to: { path: '^ai-sdk/(client|react)/' },
    },
    {
      name: 'browsers-have-no-node',
      severity: 'error',
      from: { path: '^ai-sdk/(client|react|parts)/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'contract-is-types',
      comment: 'What a store promises knows none that keeps it, nor what is done with it.',
      severity: 'error',
      from: { path: '^stores/contract/' },
      to: { path: '^stores/', pathNot: '^stores/contract/' },
    },
    {
      name: 'record-and-log-over-any-store',
      severity: 'error',
      from: { path: '^stores/(record|log)/' },
      to: { path: '^stores/', pathNot: '^stores/(contract|record|log)/|/settled-texts\\.ts$' },
    },
    {
      name: 'stores-by-their-seam',
      comment: 'Only composition roots know which store it is.',
      severity: 'error',
      from: {
        path: '^(activities|executor|in-process|ai-sdk|api|worker)/',
        pathNot: '/main\\.ts$|^in-process/ai-sdk/tool-loop-agent\\.ts$',
      },
      to: { path: '^stores/(redis|memory)/' },
    },
    {
      name: 'workflows-take-no-values-with-zod',
      comment:
        'Value imports of the workflow bundle: plain constants, and pure functions without imports of their own.',
      severity: 'error',
      from: { path: '^workflows/' },
      to: {
        path: '^protocol/',
        pathNot: '^protocol/(temporal-names|run|carry|limits|ids|triggers)\\.ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
    packagesOf(
      'react',
      'react|react-dom|@ai-sdk/react',
      'ai-sdk/react|web|examples/next|examples/assistant-ui|examples/ai-elements',
    ),
    packagesOf('redis', 'ioredis', 'stores/redis'),
    packagesOf('tracing', '@opentelemetry/[^/]+', 'tracing'),
    packagesOf('command-line', 'commander|cli-table3', 'cli'),
    packagesOf('http', 'express|express-rate-limit|cors|helmet|prom-client', 'api'),
    packagesOf('tokens', 'jose', 'api|notify'),
    packagesOf('notices', 'standardwebhooks|nodemailer', 'notify|examples'),
    packagesOf(
      'temporal',
      '@temporalio/[^/]+',
      'workflows|activities|executor|worker|api|config|testing/temporal|examples/(embed|next|own-workflow)',
    ),
    packagesOf(
      'model',
      '@ai-sdk/(provider|openai|openai-compatible|anthropic|google)',
      'agents|activities|examples',
    ),
    {
      name: 'workflows-know-temporal-only',
      comment: 'What they import is bundled for the sandbox.',
      severity: 'error',
      from: { path: '^workflows/' },
      to: { path: 'node_modules/', pathNot: 'node_modules/@temporalio/' },
    },
    {
      name: 'pages-bring-their-own-ai',
      comment: 'With 6 or 7; ours would be a second one.',
      severity: 'error',
      from: { path: '^ai-sdk/(client|react)/' },
      to: { path: 'node_modules/(ai|zod)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.js', '.mjs'] },
  },
};
