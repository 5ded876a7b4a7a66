import { type FormEvent, useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { backend, type RoomSummary, type Stream } from './backend.ts';
import { storedName, storeName } from './identity.ts';
import { Problem } from './problem.tsx';
import { usePageTitle } from './use-page-title.ts';

export function StartPage() {
  usePageTitle('Start');
  const [, go] = useLocation();
  const [name, setName] = useState(storedName);
  const [room, setRoom] = useState('');
  const [rooms, setRooms] = useState<readonly RoomSummary[] | null>(null);
  const [streams, setStreams] = useState<readonly Stream[] | null>(null);
  const [error, setError] = useState<unknown>(null);

  useEffect(() => {
    backend.rooms().then(setRooms, setError);
    backend.streams().then(setStreams, setError);
  }, []);

  const enter = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    try {
      const { name: made } = await backend.openRoom(room.trim() || 'demo');
      go(`/room/${encodeURIComponent(made)}`);
    } catch (problem) {
      setError(problem);
    }
  };
  const live = streams?.filter(({ status }) => status !== 'ENDED') ?? [];

  return (
    <div className="narrow stack">
      <h1>Playground</h1>
      <p className="muted">
        A small application built on this service: its backend holds the development key and hands out tokens, its pages
        use the client SDK. Nothing here is special to it.
      </p>
      <Problem error={error} />
      <div className="field">
        <label htmlFor="name">Your name</label>
        <input
          id="name"
          className="input"
          value={name}
          maxLength={40}
          autoComplete="nickname"
          onChange={({ target }) => {
            setName(target.value);
            storeName(target.value);
          }}
        />
      </div>
      <section className="panel stack-small" aria-labelledby="rooms">
        <h2 id="rooms">Rooms</h2>
        <ul className="links">
          {rooms?.map((one) => (
            <li key={one.name}>
              <Link href={`/room/${encodeURIComponent(one.name)}`}>{one.name}</Link>{' '}
              <span className="muted">{occupancy(one.participantCount)}</span>
            </li>
          ))}
        </ul>
        <form className="row" onSubmit={(event) => void enter(event)}>
          <label className="visually-hidden" htmlFor="room">
            Name of the room
          </label>
          <input
            id="room"
            className="input grow"
            placeholder="Name of a new room"
            pattern="[A-Za-z0-9._\-]{1,128}"
            title="1 to 128 letters, digits, dots, hyphens or underscores"
            value={room}
            onChange={({ target }) => setRoom(target.value)}
          />
          <button type="submit" className="button button-primary">
            Start a room
          </button>
        </form>
      </section>
      <section className="panel stack-small" aria-labelledby="chat">
        <h2 id="chat">Chat</h2>
        <p className="muted">An inbox with what is unread, search and mentions.</p>
        <Link className="button self-start" href="/chat">
          Open the chat
        </Link>
      </section>
      <section className="panel stack-small" aria-labelledby="streams">
        <h2 id="streams">Live streams</h2>
        <ul className="links">
          {live.map(({ id, title, status }) => (
            <li key={id}>
              <Link href={`/watch/${id}`}>Watch “{title}”</Link>{' '}
              <span className="muted">{status === 'LIVE' ? 'live now' : 'not started'}</span>
            </li>
          ))}
          {streams !== null && live.length === 0 && <li className="muted">No stream yet.</li>}
        </ul>
        <Link className="button self-start" href="/host">
          Go live
        </Link>
      </section>
      <p>
        <Link href="/check">Connection check</Link>
      </p>
    </div>
  );
}

function occupancy(count: number | null): string {
  if (count === null) return 'No data';
  if (count === 0) return 'nobody there';
  return count === 1 ? '1 person' : `${count} people`;
}
