/** The lab agent in each shape of a run: activities for steps and calls, and one for everything. */
export const LAB_AGENTS = ['lab', 'lab-leg'] as const;

export type LabAgent = (typeof LAB_AGENTS)[number];
