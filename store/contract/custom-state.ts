import type { CustomState } from '../../session/input.js';

export type { CustomState } from '../../session/input.js';

export interface VersionedState {
  customState: CustomState;
  version: number;
}
