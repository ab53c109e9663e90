/** The driver's own module for parameters, which its published types leave out. */
declare module 'pg/lib/utils.js' {
  const utils: {
    /** A parameter as it goes to the server; throws for what has no text. */
    prepareValue(value: unknown): string | Buffer | null;
  };
  export default utils;
}
