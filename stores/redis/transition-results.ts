import type { ReserveResult } from '../contract/owners.js';
import type { OwnerTransitionName } from '../transitions/library.js';

/** The reply of each transition of an owner's figures. */
interface OwnerResults {
  reserve: ReserveResult;
  release: { kind: 'released' | 'unknown' };
  forgetUsage: { kind: 'forgotten' | 'unknown' };
  /** `added`: it was not listed · `stale`: a later fold came first. */
  fold: { kind: 'added' | 'folded' | 'stale' | 'removed' | 'unknown' };
}

export type OwnerResultOf<Name extends OwnerTransitionName> = OwnerResults[Name];
