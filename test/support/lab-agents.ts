/**
 * The lab agent in each shape of a run: with activities for steps and calls, and with one for
 * everything.
 */
export const LAB_AGENTS = ['lab', 'lab-leg'] as const;

export type LabAgent = (typeof LAB_AGENTS)[number];
