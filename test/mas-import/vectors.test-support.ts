/** IDs and secrets of the made-up installation. Checksums and digests are right. */
import { fromUuid } from '#platform/base/ids.ts';

export const USERS = {
  alice: '01917e00-0000-0000-0000-000000a0b1c0',
  bob: '01917e00-0000-0000-0000-000000002c0b',
  caro: '01917e00-0000-0000-0000-000000062b00',
  dave: '01917e00-0000-0000-0000-00000006ab6e',
  erna: '01917e00-0000-0000-0000-0000000762aa',
} as const;

export const C1 = '01917e00-0000-0000-0000-000000c00001';
export const C2 = '01917e00-0000-0000-0000-000000c00002';
export const C3 = '01917e00-0000-0000-0000-000000c00003';

export const ulid = (uuid: string): string => fromUuid(uuid);

export const PASSWORD = 'correct horse battery';
export const H1 = '$argon2id$v=19$m=19456,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$69I7qCjDTsQwhQqFvpQJiqEI0lGQvxC84fXE0Ktxca4';
/** With the pepper `pepper-with-newline` and a line feed. */
export const PEPPERED =
  '$argon2id$v=19$m=19456,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$x/pmn9Pd9FfczjbC+GxgHPRnIkyYYi831xLASCarRAk';
/** With the pepper `pepper`. */
export const BCRYPT = '$2b$10$KBCwKxOzLha2MUDgW0PjXebJGir/Jydtp47TrZ8cqLl9XqTHJHuaK';
export const PBKDF2 = '$pbkdf2-sha256$i=600000,l=32$MDEyMzQ1Njc4OWFiY2RlZg$FssUBfIHq1ETs6++tsrS0CyoyvbROnb1L9k+a0O+weE';

export const CLIENT_SECRET = 's3cretOfTheWikiApp00';
export const ENCRYPTED_SECRET = 'oKGio6Slpqeoqaqrf5gbLSiSjcv0Z5ZDlZGUuu0u44811aCuGOtXjjmkZJS7uQzU';

export const T1 = 'mat_2V92EscLPGZiQCO2VXehwJup2MBC5W_FVi2V3';
export const T2 = 'mar_J3MXTLYMvlHaNwj7QUarqsJfib1h00_H2Fun1';
export const T3 = 'mat_mNvW3anVvEcSXkWeYWYa6qIJm4UhuP_2MEh13';
export const T4 = 'mar_iqCAU1AOCx4hMsnMOOm1S2l1XrznHJ_32xIY1';
export const T5 = 'mar_tuCHt2CaKFHuN9pRjct8g5nvlrQfQz_OMogY2';
export const T6 = 'mar_xBt52homEILnvh84KdNSdevHisG3rp_02x054';
export const T7 = 'mat_Xnu5Vf0h5EmcnhsOG9OV1JHNFpAxn3_0b5ZIX';
export const T8 = 'mat_6agK1Yc6R22G65xZ0flD6P2TrNmSvE_7hPbp3';
export const T9 = 'mat_ghB5DIMMZlAbSrEelUNXQFiZFugapo_u4ZQH3';
export const T10 = 'mat_Z3tEskudvahAqetqQzoMRpoWWtQQOo_FXyqk2';
export const T12 = 'mct_gYMgnpPAuxV6biKBA83eYM0ANWDqWd_JWipX4';
export const T13 = 'mct_RP1yx41hKBREpb8KDcf395ieh6ZYLK_0qpDTr';
export const T14 = 'mct_PzwwDMyjLQmyYgjezdLVwy9vWUIXXg_0MxmZU';
export const T15 = 'mcr_jVizwJeAKNi8d7GQ3dY0P17vvZRN7t_Fi58b1';
export const T16 = 'mcr_4nysfHthA0WJYMHzgslO8pwlW3wrKA_0U6GVs';
export const T17 = 'mct_gEC8soxvGkkGlxITpl7szRcyBvC5zj_vRL1b2';
export const T18 = 'mct_iEkSIoYpqQ0hAGwwsbM6nIBjNQyfB2_LTxVC1';
export const T19 = 'mpt_u5abGVV3GPWX6JhGRhoa0sAX8LjsIx_S6TxD4';
export const T20 = 'mpt_ZuSEMWGPizfCNw8boGBnLl6iipvSZx_0ciHHl';
export const SYNAPSE_TOKEN = 'syt_Y2Fybw_AbCdEfGhIjKlMnOpQrSt_0aB1cD';
export const MACAROON = 'MDAxOWxvY2F0aW9uIGV4YW1wbGUub3JnCjAwMTNpZGVudGlmaWVyIGtleQo';

/** The ID of a browser session, and the cookie of MAS for it. */
export const BROWSER_SESSION = '01917e00-0000-0000-0000-0000178065c0';
export const COOKIE =
  'oKGio6SlpqeoqaqrjfaRMLZXZBRSp5Z8hUZpWVEb74LFPUnDu301Z8TArXPwt7pEuUb3tof9HJn%2F918yX0ZIh0v0ek4%3D';

export const API = 'urn:matrix:org.matrix.msc2967.client:api:*';
export const device = (id: string): string => `urn:matrix:org.matrix.msc2967.client:device:${id}`;

let drawn = 0;
/** An ID like those of MAS, later than all before. */
export function newUuid(): string {
  drawn += 1;
  return `01917e01-0000-0000-0000-${drawn.toString(16).padStart(12, '0')}`;
}

export function ago(ms: number): Date {
  return new Date(Date.now() - ms);
}

export function ahead(ms: number): Date {
  return new Date(Date.now() + ms);
}
