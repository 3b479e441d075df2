/** The clock of another machine, read once. All times are ms since the epoch. */
export interface ClockReading {
  /** The time of the other clock. */
  at: number;
  /** This machine's clock when it was asked, and when the reply came. */
  askedAt: number;
  repliedAt: number;
}
