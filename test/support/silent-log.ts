import type { Log } from '#platform/base/log.ts';

/** A log that keeps nothing, for tests that do not look at it. */
export const silentLog: Log = { error() {}, warn() {}, info() {}, debug() {} };
