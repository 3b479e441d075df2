// What `npm start` says when everything is ready.

export function welcome({ url, temporalUiUrl, temporalAddress, redisUrl, dataDir, model, open }) {
  const lines = [
    ['Chat page', url],
    ['Temporal UI', temporalUiUrl],
    ['Engines', `Temporal ${temporalAddress}, Redis ${withoutPassword(redisUrl)}`],
    ['Data', dataDir],
    [
      'Model',
      model ?? 'scripted, so no model key is needed (MODEL=<provider>:<id> for a real one)',
    ],
    ['Access', open && 'without authentication (HELIX_ALLOW_UNAUTHENTICATED=1)'],
  ];
  const table = lines
    .filter(([, value]) => value)
    .map(([label, value]) => `  ${label.padEnd(13)}${value}\n`);
  return `\n  helix-temporal is running.\n\n${table.join('')}\n  Ctrl-C stops what was started here.\n\n`;
}

function withoutPassword(url) {
  const parsed = new URL(url);
  if (parsed.password) parsed.password = '***';
  return parsed.href;
}
