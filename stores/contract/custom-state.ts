export type CustomState = Record<string, unknown>;

export interface VersionedState {
  customState: CustomState;
  version: number;
}
