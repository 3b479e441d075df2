import { expectFaultsNoticed } from '../support/planted-faults.mjs';

const WITHIN_MS = 240_000;

it(
  'a soak notices a fault of each kind: its last line says so, and its exit code',
  () => expectFaultsNoticed('scripts/soak.mjs', ['--minutes', '0.1', '--people', '4']),
  WITHIN_MS,
);
