/** The lab agent in each shape of a run: of a step and its calls as activities, and of one activity for all. */
export const LAB_AGENTS = ['lab', 'lab-leg'] as const;

export type LabAgent = (typeof LAB_AGENTS)[number];
