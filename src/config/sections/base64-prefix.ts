/** Prefix of a value that is bytes in base64: a key in DER, or a pepper that need not be text. */
export const BASE64_PREFIX = 'base64:';
