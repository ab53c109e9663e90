export const metadata = { title: 'Next.js with Latchkey' };

export default function Layout({ children }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  );
}
