import { getWorld } from '@workflow/core/runtime';

/** Resumes runs of an earlier process. */
export default async (): Promise<void> => {
  await getWorld().start?.();
};
