import { UserError } from '../system/user-error.mjs';

const FIVE_MINUTES_S = 300;

/**
 * What a person's first minutes have come to, as a sentence.
 *
 * @param found.paid         a line for each payment of the app
 * @param found.isAskedAgain whether the approved question is still there after a reload
 * @param found.seconds      what the person waited for
 * @throws UserError unless the refund was paid once, is not asked for again, and all of it took five minutes at most
 */
export function judgeFirstMinutes({ paid, isAskedAgain, seconds }) {
  if (paid.length !== 1) {
    throw new UserError(`The refund was paid ${paid.length} times: ${paid.join(', ')}`);
  }
  if (isAskedAgain) throw new UserError('The refund was paid, and is asked for again.');
  if (seconds > FIVE_MINUTES_S) {
    throw new UserError(`It took ${Math.round(seconds)} s: longer than five minutes.`);
  }
  return (
    'The refund was approved after the worker had gone, and paid once. ' +
    `${Math.round(seconds)} s after packing.`
  );
}
