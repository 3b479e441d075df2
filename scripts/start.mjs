// `npm start` runs everything, `npm run start:api` and `npm run start:worker` one process each.
import { startOneProcess } from './start/one-process.mjs';
import { startProduct } from './start/product.mjs';
import { runMain, UserError } from './system/user-error.mjs';

const [role, ...rest] = process.argv.slice(2);

await runMain(async () => {
  if (rest.length > 0 || !['api', 'worker', undefined].includes(role)) {
    throw new UserError('Usage: npm start, npm run start:api or npm run start:worker.');
  }
  if (role) process.exitCode = await startOneProcess(role);
  else await startProduct();
});
// Whatever still waits for an answer at this point waits in vain.
process.exit();
