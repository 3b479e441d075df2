import { nodeFault } from '../../cli/node-version.js';

it.each(['20.19.0', '20.20.2', '22.0.0', '100.1.0'])('Node %s is recent enough', (version) =>
  expect(nodeFault(version, '>=20.19')).toBeUndefined(),
);

it.each(['20.18.3', '18.20.8', '9.99.0'])('Node %s is refused in a sentence', (version) =>
  expect(nodeFault(version, '>=20.19')).toBe(
    `helix-temporal needs Node 20.19 or newer; this is ${version}.`,
  ),
);
