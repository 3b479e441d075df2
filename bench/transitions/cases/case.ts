import type { Driver } from '../driver.js';
import type { Scene } from '../inputs.js';
import type { StateName } from '../states.js';

/** One transition, from one state. */
export interface Case {
  name: string;
  from: StateName;
  /** Exactly one transition; a refusal is thrown. */
  act: (driver: Driver, scene: Scene) => Promise<unknown>;
  /** Touches sub-agents of the session's past. */
  isWhole?: true;
  /** Has nothing of the session to grow with. */
  isSmallOnly?: true;
}
