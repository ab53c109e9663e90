/** Figures that exist as series. */
export const METRICS = [
  'sign_ins',
  'sign_in_failures',
  'registrations',
  'tokens_issued',
  'active_users',
  'active_users_7d',
  'active_users_30d',
  'second_factor_share',
] as const;
export type Metric = (typeof METRICS)[number];

export const STEPS = ['day', 'hour'] as const;
export type Step = (typeof STEPS)[number];

/** Figures that are also counted for each client, by day. */
export const METRICS_OF_CLIENTS: readonly Metric[] = ['sign_ins', 'tokens_issued'];

/** Figures of whole days: an account counts once, however often it is used. */
export const DAILY_METRICS: readonly Metric[] = ['active_users', 'active_users_7d', 'active_users_30d'];
