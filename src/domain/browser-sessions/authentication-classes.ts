/** What a session says about a password alone (oauth.md 15.3): one factor, method `pwd` of RFC 8176. */
export const PASSWORD_ACR = 'urn:latchkey:acr:1';
export const PASSWORD_AMR: readonly string[] = ['pwd'];
