/** Lists the page and mail samples of all features. */
import type { Sample } from '#browser/sample.ts';
import { samples as shared } from '#browser/samples.tsx';
import { samples as accountApi } from '#features/account-api/samples.ts';
import { samples as accountArea } from '#features/account-area/samples.ts';
import { samples as adminApi } from '#features/admin-api/samples.ts';
import { samples as adminArea } from '#features/admin-area/samples.ts';
import { samples as authorization } from '#features/authorization/samples.tsx';
import { samples as chatCompat } from '#features/chat-compat/samples.tsx';
import { samples as device } from '#features/device/samples.tsx';
import { samples as endSession } from '#features/end-session/samples.tsx';
import { samples as indexPage } from '#features/index-page/samples.tsx';
import { samples as login } from '#features/login/samples.tsx';
import { samples as logout } from '#features/logout/samples.tsx';
import { samples as reauth } from '#features/reauth/samples.tsx';
import { samples as recovery } from '#features/recovery/samples.tsx';
import { samples as registration } from '#features/registration/samples.tsx';
import { samples as secondFactor } from '#features/second-factor/samples.tsx';
import { samples as upstreamLogin } from '#features/upstream-login/samples.tsx';

export const pageSamples: readonly Sample[] = [
  ...shared,
  ...accountApi,
  ...accountArea,
  ...adminApi,
  ...adminArea,
  ...authorization,
  ...chatCompat,
  ...device,
  ...endSession,
  ...indexPage,
  ...login,
  ...logout,
  ...reauth,
  ...recovery,
  ...registration,
  ...secondFactor,
  ...upstreamLogin,
];
