/** Fits `net.BlockList.addSubnet`. */
export interface Cidr {
  readonly address: string;
  readonly prefixLength: number;
  readonly family: 'ipv4' | 'ipv6';
}
