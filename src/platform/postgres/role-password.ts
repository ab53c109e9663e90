import { isWrongPassword } from './failures.ts';

/**
 * The password of the database role, which can be replaced while connections are open. The server may change it earlier
 * or later. Until the server accepts the new password, the last accepted one is tried as well.
 */
export class RolePassword {
  #current: string;
  #accepted: string | undefined;

  constructor(password: string) {
    this.#current = password;
  }

  /** Sets the password for new connections. @returns a function that restores the previous one */
  replaceWith(password: string): () => void {
    const former = this.#current;
    this.#current = password;
    return () => {
      this.#current = former;
    };
  }

  /** @param connect fails with the server's error if the password is rejected */
  async use<T>(connect: (password: string) => Promise<T>): Promise<T> {
    const [current, accepted] = [this.#current, this.#accepted];
    try {
      const connected = await connect(current);
      this.#accepted = current;
      return connected;
    } catch (error) {
      if (accepted === undefined || accepted === current || !isWrongPassword(error)) throw error;
      return await connect(accepted);
    }
  }
}
