import { getWorld } from '@workflow/core/runtime';

/** Runs that a process left behind are taken up when the next one starts. */
export default async (): Promise<void> => {
  await getWorld().start?.();
};
