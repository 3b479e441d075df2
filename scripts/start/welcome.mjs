// What `npm start` and `helix-temporal dev` say when everything is ready.

export function welcome(product) {
  const { url, temporalUiUrl, isTemporalOwn, temporalAddress, redisUrl } = product;
  const { dataDir, model, agents, open } = product;
  const lines = [
    ['Chat page', url],
    ['Console', `${url}/console`],
    ['Temporal UI', temporalUiUrl ?? (isTemporalOwn && 'off (TEMPORAL_UI=1 starts it)')],
    ['Engines', `Temporal ${temporalAddress}, Redis ${withoutPassword(redisUrl)}`],
    ['Agents', agents],
    ['Data', dataDir],
    ['Model', model ?? modelOf(agents)],
    ['Access', open && 'without authentication (HELIX_ALLOW_UNAUTHENTICATED=1)'],
  ];
  const table = lines
    .filter(([, value]) => value)
    .map(([label, value]) => `  ${label.padEnd(13)}${value}\n`);
  return `\n  helix-temporal is running.\n\n${table.join('')}\n  Ctrl-C stops what was started here.\n\n`;
}

/** Without MODEL: a file of agents may name a model itself. */
function modelOf(agents) {
  if (agents) return `as ${agents} says: MODEL is not set, so modelFromSpec gives the scripted one`;
  return 'scripted, so no model key is needed (MODEL=<provider>:<id> for a real one)';
}

function withoutPassword(url) {
  const parsed = new URL(url);
  if (parsed.password) parsed.password = '***';
  return parsed.href;
}
