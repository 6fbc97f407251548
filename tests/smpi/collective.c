/* One collective operation, run by SMPI: `collective OPERATION BYTES...`.
 *
 * What an operation does with a buffer of so many bytes is what sim/collective/algorithm.hpp says; all-reduce, reduce
 * and reduce-scatter add up floats, the others move bytes, and the root is rank 0. Every rank prints a line "BYTES
 * SECONDS" for every size: how long it was in the operation, which all ranks enter at the same instant of simulated
 * time. No barrier is used for that, because ranks leave one at different times: the k-th operation starts k seconds
 * after the simulation, and ranks compute until then.
 *
 * Buffers are SMPI's shared ones, so that large messages need no memory; what is in them is of no use. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double host_flops = 1e9; /* as smpi.cpp's platform has it */

static void run(const char* operation, void* in, void* out, int bytes, int ranks) {
    const MPI_Comm all = MPI_COMM_WORLD;
    const int floats = bytes / (int)sizeof(float);
    const int part = bytes / ranks;
    if (strcmp(operation, "allreduce") == 0) {
        MPI_Allreduce(in, out, floats, MPI_FLOAT, MPI_SUM, all);
    } else if (strcmp(operation, "reduce") == 0) {
        MPI_Reduce(in, out, floats, MPI_FLOAT, MPI_SUM, 0, all);
    } else if (strcmp(operation, "reduce-scatter") == 0) {
        MPI_Reduce_scatter_block(in, out, floats / ranks, MPI_FLOAT, MPI_SUM, all);
    } else if (strcmp(operation, "broadcast") == 0) {
        MPI_Bcast(in, bytes, MPI_BYTE, 0, all);
    } else if (strcmp(operation, "allgather") == 0) {
        MPI_Allgather(in, part, MPI_BYTE, out, part, MPI_BYTE, all);
    } else if (strcmp(operation, "scatter") == 0) {
        MPI_Scatter(in, part, MPI_BYTE, out, part, MPI_BYTE, 0, all);
    } else if (strcmp(operation, "gather") == 0) {
        MPI_Gather(in, part, MPI_BYTE, out, part, MPI_BYTE, 0, all);
    } else if (strcmp(operation, "all-to-all") == 0) {
        MPI_Alltoall(in, part, MPI_BYTE, out, part, MPI_BYTE, all);
    } else if (strcmp(operation, "barrier") == 0) {
        MPI_Barrier(all);
    } else {
        fprintf(stderr, "no operation '%s'\n", operation);
        MPI_Abort(all, 2);
    }
}

int main(int argc, char* argv[]) {
    MPI_Init(&argc, &argv);
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int k = 2; k < argc; ++k) {
        const int bytes = atoi(argv[k]);
        void* in = SMPI_SHARED_MALLOC(bytes + 1); /* one more: none of no bytes */
        void* out = SMPI_SHARED_MALLOC(bytes + 1);
        const double wait_s = k - MPI_Wtime();
        if (wait_s < 0) {
            fprintf(stderr, "the operation before took longer than a second\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        smpi_execute_flops(wait_s * host_flops);
        const double start_s = MPI_Wtime();
        run(argv[1], in, out, bytes, ranks);
        printf("%d %.17g\n", bytes, MPI_Wtime() - start_s);
        SMPI_SHARED_FREE(in);
        SMPI_SHARED_FREE(out);
    }
    MPI_Finalize();
    return 0;
}
