import { condition } from '@temporalio/workflow';

/**
 * Carries work out, so many at once: what is left begins as others end, in its order. So no run has
 * more activities pending than the server takes, nor all of a queue to itself.
 */
export async function inWaves<T>(
  all: readonly T[],
  most: number,
  work: (one: T) => Promise<void>,
  isStopped: () => boolean,
): Promise<void> {
  let atWork = 0;
  let failure: { error: unknown } | undefined;
  for (const one of all) {
    if (atWork >= most) await condition(() => atWork < most || failure !== undefined);
    // What was stopped is settled in the record; nothing more is begun.
    if (failure !== undefined || isStopped()) break;
    atWork += 1;
    void work(one).then(
      () => {
        atWork -= 1;
      },
      (error: unknown) => {
        failure = { error };
      },
    );
  }
  await condition(() => atWork === 0 || failure !== undefined);
  if (failure !== undefined) throw failure.error;
}
