/** Loaded into Latchkey to resolve the name of the publisher, because no name server resolves a name to loopback. */
import { Resolver } from 'node:dns/promises';

Resolver.prototype.resolve4 = async () => ['127.0.0.1'];
Resolver.prototype.resolve6 = async () => [];
