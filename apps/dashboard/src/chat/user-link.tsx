import { Link } from 'wouter';
import { useProject } from '../frame/project.tsx';

/** The id of a user, to their page. */
export function UserLink({ id }: { id: string }) {
  const { to } = useProject();
  return (
    <Link className="mono" href={to(`users/${encodeURIComponent(id)}`)}>
      <strong>{id}</strong>
    </Link>
  );
}
