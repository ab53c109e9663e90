/** Sessions, and what they lead to: loaded as one file, since people go from one to the other. */
export { ClientDetail } from '../clients/client-detail.tsx';
export { DeviceRedirect } from '../devices/device-redirect.tsx';
export { AppSessions } from './app-sessions.tsx';
export { BrowserSessions } from './browser-sessions.tsx';
export { SessionDetail } from './session-detail.tsx';
