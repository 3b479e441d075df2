// Bundles a page that imports from the package's main entries, and prints the modules that it is made of.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const entry = (path) => JSON.stringify(join(root, 'dist', path));

const PAGE = `
  import { createHelixChatTransport, createHelixSendAutomaticallyWhen } from ${entry('ai-sdk/index.js')};
  import { filterByType, isTextDeltaChunk } from ${entry('index.js')};
  console.log(createHelixChatTransport, createHelixSendAutomaticallyWhen, filterByType, isTextDeltaChunk);
`;

const modules = [];
await build({
  root,
  configFile: false,
  logLevel: 'silent',
  build: { write: false, rolldownOptions: { input: 'virtual:page' } },
  plugins: [
    {
      name: 'page',
      resolveId: (id) => (id === 'virtual:page' ? id : undefined),
      load: (id) => (id === 'virtual:page' ? PAGE : undefined),
      generateBundle: (_options, bundle) => {
        for (const output of Object.values(bundle)) {
          if (output.type === 'chunk') modules.push(...Object.keys(output.modules));
        }
      },
    },
  ],
});
process.stdout.write(JSON.stringify(modules));
