export function median(values) {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * @param sorted ascending
 * @param share between 0 and 1
 */
export function percentile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)];
}

/** Returns the latencies of all rounds, ascending. */
export function merged(arrays) {
  const all = new Float64Array(arrays.reduce((sum, array) => sum + array.length, 0));
  let position = 0;
  for (const array of arrays) {
    all.set(array, position);
    position += array.length;
  }
  return all.sort();
}

/** Rounds to three significant digits. */
export function rounded(value) {
  return Number(value.toPrecision(3));
}

/** Summarizes one contestant in one race. */
export function summarise(rounds) {
  const latencies = merged(rounds.map((round) => round.latencies));
  const of = (read) => rounds.map(read);
  return {
    rate: Math.round(median(of((round) => round.rate))),
    ...(latencies.length > 0 && {
      p50: rounded(percentile(latencies, 0.5)),
      p95: rounded(percentile(latencies, 0.95)),
      p99: rounded(percentile(latencies, 0.99)),
    }),
    serverCpu: rounded(mean(of((round) => round.serverCpu))),
    databaseCpu: rounded(mean(of((round) => round.databaseCpu))),
    driverCpu: rounded(mean(of((round) => round.driverCpu))),
    foreignProcessors: rounded(median(of((round) => round.foreign))),
  };
}

/** Returns the ratio of two contestants' rates per round: median, minimum and maximum. */
export function ratioOfRates(rounds, peerRounds) {
  const ratios = rounds.map(({ rate }, index) => rate / peerRounds[index].rate);
  return { median: rounded(median(ratios)), least: rounded(Math.min(...ratios)), most: rounded(Math.max(...ratios)) };
}

/** Returns the ratio of the servers' processor time per request. */
export function ratioOfCpu(rounds, peerRounds) {
  const costs = [rounds, peerRounds].map((list) => mean(list.map(({ serverCpu }) => serverCpu)));
  return rounded(costs[0] / costs[1]);
}
