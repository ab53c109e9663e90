import { getServerSession } from 'next-auth';
import { authOptions } from '../auth.js';

export default async function Home() {
  const session = await getServerSession(authOptions);
  if (session === null) return <a href="/api/auth/signin">Sign in</a>;
  return (
    <>
      <p>Hello, {session.user.name ?? session.user.sub}.</p>
      <a href="/api/auth/signout">Sign out</a>
    </>
  );
}
