const HEAD = `# Defences

Each line is a promise and, after it, the test that fails without its defence; the heading is the file that the defence is taken
out of. \`npm run defences\` takes each defence out of a copy of the project, runs that test, and writes this list;
\`npm run defences -- --list\` only writes it. The edits are in [\`scripts/defences/\`](../scripts/defences/). Deaths of processes and
connections, which no edit can cause, are tested in [\`test/stores/kill/\`](../test/stores/kill/) and
[\`test/e2e/\`](../test/e2e/), and any interleaving of writers by the properties of
[\`stores/conformance/\`](../stores/conformance/).
`;

/** The list of defences as Markdown, one line each, by file. Pure. */
export function formatList(mutations) {
  const files = [...new Set(mutations.map(({ file }) => file))].sort();
  const parts = files.map((file) => {
    const lines = mutations
      .filter((mutation) => mutation.file === file)
      .map(({ defence, suite, test }) => `- ${defence}. “${test}” (${suite.replace('test/', '')})`);
    return `## \`${file}\`\n\n${lines.join('\n')}\n`;
  });
  return [HEAD, ...parts].join('\n');
}
