export { InvitationView } from './invitation.page.tsx';
export { Invitations } from './invitations.page.tsx';
