export { Audit } from './audit.page.tsx';
export { AuditEventView } from './event.page.tsx';
