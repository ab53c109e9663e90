import { getServerSession } from 'next-auth';
import { authOptions } from '../../auth.js';

export async function GET() {
  const session = await getServerSession(authOptions);
  if (session === null) return Response.json({}, { status: 401 });
  const { sub, name, email } = session.user;
  return Response.json({ sub, name, email });
}
