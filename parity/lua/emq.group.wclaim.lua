return claimturn(KEYS[3], KEYS[2], tonumber(ARGV[1]), 'weight')
