/** The driver's internal module for parameters, which its published types omit. */
declare module 'pg/lib/utils.js' {
  const utils: {
    /** Encodes a parameter for the server. Throws if it has no text form. */
    prepareValue(value: unknown): string | Buffer | null;
  };
  export default utils;
}
