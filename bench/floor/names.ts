/** Plain constants, shared by the workflow code, its worker and the client. */
export const FLOOR_TASK_QUEUE = 'bench-floor';
export const FLOOR_RELEASE = 'release';

/** When an activity's own code began and ended, wall clock in ms. */
export interface Span {
  begin: number;
  end: number;
}
