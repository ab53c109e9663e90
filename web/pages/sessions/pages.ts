/** Sessions and their details, loaded as one file because users navigate between them. */
export { ClientDetail } from '../clients/client-detail.tsx';
export { DeviceRedirect } from '../devices/device-redirect.tsx';
export { SessionDetail } from './session-detail.tsx';
export { Sessions } from './sessions.tsx';
