import { isWrongPassword } from './failures.ts';

/**
 * The password of the role, which may be replaced while connections are open. The server may have the new one before or
 * after: until it has taken it, the one that it took last is tried as well.
 */
export class RolePassword {
  #current: string;
  #accepted: string | undefined;

  constructor(password: string) {
    this.#current = password;
  }

  /** For connections from now on. @returns puts the former one back */
  replaceWith(password: string): () => void {
    const former = this.#current;
    this.#current = password;
    return () => {
      this.#current = former;
    };
  }

  /** @param connect fails with the error of the server when it refuses the password */
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
