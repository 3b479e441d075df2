import { findPostgres } from '../../scripts/engines/postgres.mjs';
import { hasTemporalPrograms } from '../../scripts/engines/temporal-programs.mjs';
import { expectFaultsNoticed } from '../support/planted-faults.mjs';

const WITHIN_MS = 300_000;
// `npm run rehearse` installs them, which takes longer than all tests together.
const hasPostgres = await findPostgres({ canInstall: () => false }).then(
  () => true,
  () => false,
);
const canRun = hasPostgres && hasTemporalPrograms() && process.platform === 'linux';
if (!canRun) {
  process.stderr.write('NOT PLAYED: the rehearsal, whose engines `npm run rehearse` installs.\n');
}

(canRun ? it : it.skip)(
  'a rehearsal plays runs on a Temporal server of four roles, and notices a fault of each kind',
  () => expectFaultsNoticed('scripts/rehearse.mjs', ['--minutes', '0.2', '--sessions', '6']),
  WITHIN_MS,
);
