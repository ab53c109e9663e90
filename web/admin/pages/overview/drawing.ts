export type Step = 'hour' | 'day';

export interface PlottedPoint {
  readonly at: string;
  readonly value: number | null;
}

export interface Drawing {
  readonly points: readonly PlottedPoint[];
  readonly step: Step;
  readonly language: string;
}
